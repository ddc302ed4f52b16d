import "uplot/dist/uPlot.min.css";
import "./theme.css";
import "./page.css";
import { render } from "preact";
import { listen } from "./live";
import { followMarks } from "./marks";
import { askEarly } from "./panels/early";
import { followFilter, runs } from "./runs";
import { App } from "./shell/App";
import { followAddress } from "./state";
import { followTheme } from "./theme";

followAddress();
followTheme();
listen();
askEarly();
followFilter();
followMarks();

/** The page is made once, with its runs; only a slow answer is not waited for. Milliseconds. */
const PATIENCE = 250;
let made = false;

function make(): void {
  if (made) return;
  made = true;
  render(<App />, document.getElementById("app")!);
}

// After what was asked early has been sent.
runs.watch(({ loaded }) => loaded && queueMicrotask(make));
setTimeout(make, PATIENCE);
