// Three bundles from one source: the dashboard's page, the report's inlined script, the notebook's module.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { defineConfig } from "vite";

const OUT = resolve(process.env.ONTOGENY_STATIC ?? resolve(import.meta.dirname, "../src/ontogeny/dashboard/static"));

/** Notices of what is compiled into the bundles; their licences ask to travel with them. */
function notices() {
  const names = Object.keys(JSON.parse(readFileSync("package.json", "utf8")).dependencies).sort();
  const notice = (name) => {
    const folder = `node_modules/${name}`;
    const { version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
    return `${name} ${version} (${license})\n\n${readFileSync(`${folder}/LICENSE`, "utf8").trim()}\n`;
  };
  return {
    name: "third-party-notices",
    generateBundle() {
      const rule = `\n${"-".repeat(80)}\n\n`;
      this.emitFile({ type: "asset", fileName: "THIRD_PARTY.txt", source: names.map(notice).join(rule) });
    },
  };
}

const shared = { outDir: OUT, target: "es2022", modulePreload: false, cssCodeSplit: false, reportCompressedSize: false };

const bundles = {
  app: {
    ...shared,
    emptyOutDir: true,
    rolldownOptions: {
      output: {
        entryFileNames: "assets/app.js",
        assetFileNames: "assets/app[extname]",
        codeSplitting: false,
      },
    },
  },
  report: {
    ...shared,
    emptyOutDir: false,
    lib: { entry: "src/report/main.ts", formats: ["iife"], name: "ontogeny", fileName: () => "report.js", cssFileName: "report" },
  },
  widget: {
    ...shared,
    emptyOutDir: false,
    lib: { entry: "src/widget/main.ts", formats: ["es"], fileName: () => "widget.js", cssFileName: "widget" },
  },
};

export default defineConfig(({ mode }) => ({
  base: "./",
  publicDir: false,
  build: bundles[mode] ?? bundles.app,
  plugins: mode === "app" ? [notices()] : [],
  define: { "process.env.NODE_ENV": '"production"' },
  server: { proxy: { "/api": process.env.ONTOGENY_DASHBOARD ?? "http://127.0.0.1:8265" } },
}));
