/** Every page and every detail there is. A page adds one line here and nothing elsewhere. */

import type { ComponentType } from "preact";
import type { Run } from "./api";

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

export const pages: Page[] = [];

export const details: Detail[] = [];
