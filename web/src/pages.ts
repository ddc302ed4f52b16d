/** Every page and every detail there is. A page adds one line here and nothing elsewhere. */

import type { ComponentType } from "preact";
import type { Run } from "./api";
import {
  ComparePage,
  HeadsPage,
  LayersPage,
  SpectraPage,
  TextPage,
  TransitionsPage,
  TreePage,
} from "./inside/pages";
import { MetricDetail } from "./panels/MetricDetail";
import { MetricsPage } from "./panels/MetricsPage";
import { runs } from "./runs";
import { RunDetail } from "./shell/RunDetail";

export interface PageProps {
  /** The runs that are drawn: chosen in the table and not hidden, in its order. */
  runs: Run[];
}

export interface Page {
  /** In the address (`page=`). */
  key: string;
  title: string;
  /** One sentence for the help and the tab's tooltip. */
  hint: string;
  component: ComponentType<PageProps>;
  /** Whether the bar's axes, smoothing and search steer it. */
  charts?: boolean;
}

export interface DetailProps extends PageProps {
  /** What follows the ":" in the view's `open`, e.g. "loss/train" of "metric:loss/train". */
  subject: string;
}

export interface Detail {
  key: string;
  title: (subject: string) => string;
  component: ComponentType<DetailProps>;
}

export const pages: Page[] = [
  {
    key: "metrics",
    title: "Metrics",
    hint: "What was logged, a panel for each metric",
    component: MetricsPage,
    charts: true,
  },
  {
    key: "heads",
    title: "Heads",
    hint: "Every attention head at every checkpoint, and where it looks",
    component: HeadsPage,
  },
  { key: "layers", title: "Layers", hint: "Numbers of layers over the run", component: LayersPage },
  { key: "matrices", title: "Matrices", hint: "Spectra of the weights over the run", component: SpectraPage },
  {
    key: "text",
    title: "Text",
    hint: "The loss of every token, and what the model wrote",
    component: TextPage,
  },
  {
    key: "transitions",
    title: "Transitions",
    hint: "What formed, when, and what is not claimed",
    component: TransitionsPage,
  },
  {
    key: "compare",
    title: "Compare",
    hint: "Two runs, or a branch and its parent, and their difference",
    component: ComparePage,
  },
  { key: "tree", title: "Tree", hint: "Which run was branched from which, and where", component: TreePage },
];

export const details: Detail[] = [
  { key: "metric", title: (subject) => subject, component: MetricDetail },
  { key: "run", title: (subject) => runs.get().byId.get(subject)?.name ?? "Run", component: RunDetail },
];
