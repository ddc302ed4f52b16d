import { build } from "vite";

for (const mode of ["app", "report", "widget"]) await build({ mode, logLevel: "warn" });
