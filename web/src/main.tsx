import "uplot/dist/uPlot.min.css";
import "./theme.css";
import "./page.css";
import { render } from "preact";
import { followAddress } from "./state";
import { followTheme } from "./theme";

followAddress();
followTheme();
render(<p>ontogeny</p>, document.getElementById("app")!);
