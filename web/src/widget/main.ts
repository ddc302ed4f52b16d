/** The notebook's widget (anywidget): one described figure, drawn in a cell of Jupyter or marimo. */

import "uplot/dist/uPlot.min.css";
import "../figure/figure.css";
import "./widget.css";
import type { Figure } from "../figure/description";
import { drawFigure } from "../figure/draw";
import { isDark, onTheme } from "../figure/theme";
import { keepKeys } from "./keys";

/** What anywidget hands over of the Python side's state. */
interface Model {
  get: (key: "figure") => Figure;
  on: (event: string, done: () => void) => void;
  off: (event: string, done: () => void) => void;
}

export default {
  render({ model, el }: { model: Model; el: HTMLElement }): () => void {
    const place = document.createElement("div");
    place.className = "ontogeny-figure";
    el.append(place);
    // By attribute and before it is drawn: the style sheet does not see past a shadow root (marimo).
    const shade = () => place.toggleAttribute("data-dark", isDark(el));
    shade();
    const unfollow = onTheme(shade);
    const drawn = drawFigure(place, model.get("figure"));
    const changed = () => drawn.update(model.get("figure"));
    model.on("change:figure", changed);
    const release = keepKeys(place);
    return () => {
      release();
      unfollow();
      model.off("change:figure", changed);
      drawn.destroy();
      place.remove();
    };
  },
};
