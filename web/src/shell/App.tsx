/** The page: runs on the left, a sticky bar, the chosen page, and what is open beside it. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { details, pages } from "../pages";
import { drawn, loadRuns, runs as store } from "../runs";
import { view } from "../state";
import { useStore } from "../store";
import { Bar } from "./Bar";
import { Help } from "./Help";
import { followKeys } from "./keys";
import { RunTable } from "./RunTable";
import "./shell.css";
import "./runs.css";
import "./bar.css";
import "./help.css";

export function App() {
  const now = useStore(view);
  const known = useStore(store);
  const [help, setHelp] = useState(false);
  useEffect(() => followKeys((open) => setHelp((was) => (open === "turn" ? !was : open))), []);
  useEffect(() => void loadRuns([...now.pinned, ...(now.runs ?? [])]), [now.pinned, now.runs]);
  const runs = useMemo(() => drawn(now, known), [now.runs, now.hidden, now.pinned, known.rows, known.byId]);
  const page = pages.find((one) => one.key === now.page) ?? pages[0];
  const Page = page.component;
  // A page looks at the view itself: it is drawn again only for other runs.
  const shown = useMemo(() => <Page runs={runs} />, [Page, runs]);
  useEffect(() => {
    document.title = [page.title, known.name, "ontogeny"].filter(Boolean).join(" · ");
  }, [page, known.name]);
  return (
    <div class={"app" + (now.open ? " beside" : "")}>
      <RunTable />
      <main>
        <Bar help={() => setHelp(true)} />
        {shown}
      </main>
      {now.open && <Beside />}
      {help && <Help close={() => setHelp(false)} />}
    </div>
  );
}

/** What is open beside the page, e.g. one metric in large. */
function Beside() {
  const { open } = useStore(view);
  const known = useStore(store);
  const [key, subject] = [open.slice(0, open.indexOf(":")), open.slice(open.indexOf(":") + 1)];
  const detail = details.find((one) => one.key === key);
  const Body = detail?.component;
  const title = detail?.title(subject) ?? "Nothing of that name";
  return (
    <aside class="detail" aria-label={title}>
      <header>
        <h2 title={title}>{title}</h2>
        <button onClick={() => view.set({ open: "" })} aria-label="Close" title="Close (Esc)">
          ✕
        </button>
      </header>
      {Body ? (
        <Body subject={subject} runs={drawn(view.get(), known)} />
      ) : (
        <p class="empty">{`“${open}” names no view.`}</p>
      )}
    </aside>
  );
}
