/** One metric, large, beside the page. */

import type { DetailProps } from "../pages";
import { Panel } from "./Panel";

export function MetricDetail({ subject, runs }: DetailProps) {
  return <Panel key={subject} metric={subject} runs={runs} height={420} large />;
}
