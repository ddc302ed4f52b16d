/** What the keys do and what the marks mean. */

import { useEffect, useRef } from "preact/hooks";
import { KEYS } from "./keys";

const MARKS = [
  ["pale band", "the lowest and highest value of each bucket; nothing between was left out"],
  ["firm stroke in a band", "a value that sticks out from its neighbours"],
  ["× above the plot", "a value that is not finite"],
  ["▾ at the floor", "a value at or below zero, which a logarithmic axis cannot show"],
  ["dashed line", "steps that a later attempt replaced"],
  ["tick on the axis", "a checkpoint; click it to look inside there"],
  ["upright line and band", "a transition and the interval it lies in"],
  ["fork on the axis", "where a branch leaves its parent"],
];

export function Help({ close }: { close(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current!.showModal(), []);
  return (
    <dialog ref={dialog} class="help" onClose={close} aria-labelledby="help-title">
      <h2 id="help-title">Keys</h2>
      <Keys />
      <p>
        On a panel’s title: <kbd>←</kbd> <kbd>→</kbd> move the crosshair (with Shift ten times as far),{" "}
        <kbd>+</kbd> <kbd>−</kbd> zoom around it, <kbd>Enter</kbd> opens it beside.
      </p>
      <h2>Pointer</h2>
      <p>Drag across a chart to zoom all of them; double-click to see the whole range again.</p>
      <h2>Marks</h2>
      <dl class="wide">
        {MARKS.map(([mark, meaning]) => (
          <div key={mark}>
            <dt>{mark}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button>Close</button>
      </form>
    </dialog>
  );
}

function Keys() {
  return (
    <dl>
      {KEYS.map(({ key, does }) => (
        <div key={key}>
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{does}</dd>
        </div>
      ))}
      <div>
        <dt>
          <kbd>Esc</kbd>
        </dt>
        <dd>close what is open</dd>
      </div>
    </dl>
  );
}
