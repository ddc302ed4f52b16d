/** What the run table is sorted by. */

import { runs } from "../runs";
import { view } from "../state";
import { useStore } from "../store";

export function Order() {
  const { sort } = useStore(view);
  const { columns } = useStore(runs);
  const key = sort.replace(/^-/, "");
  const least = !sort.startsWith("-");
  return (
    <span class="order">
      <select
        aria-label="Sort runs by"
        title="Sort runs by"
        value={key}
        onChange={({ currentTarget }) => view.set({ sort: currentTarget.value })}
      >
        <option value="">order</option>
        {columns.map((column) => (
          <option key={column.key} value={column.key}>
            {column.title}
          </option>
        ))}
      </select>
      {key && (
        <button
          aria-label={least ? "Least first" : "Most first"}
          title={least ? "Least first" : "Most first"}
          onClick={() => view.set({ sort: (least ? "-" : "") + key })}
        >
          {least ? "↑" : "↓"}
        </button>
      )}
    </span>
  );
}
