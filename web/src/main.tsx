import "uplot/dist/uPlot.min.css";
import "./theme.css";
import "./page.css";
import { render } from "preact";
import { listen } from "./live";
import { followMarks } from "./marks";
import { followFilter } from "./runs";
import { App } from "./shell/App";
import { followAddress } from "./state";
import { followTheme } from "./theme";

followAddress();
followTheme();
listen();
followFilter();
followMarks();
render(<App />, document.getElementById("app")!);
