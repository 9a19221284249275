/** What a later version may write, as changes of this one: tried on processes before anybody writes such a version. */
import type { Edit } from './other-sources.ts';

const NOTE = 'libs/line/delivery-note.ts';
const BUNDLE = 'libs/line/bundle.ts';
const ENDS = 'libs/line/delivery-ends.ts';
const LAST_ORDER_ACTION = "  order('order.cancelled', 'an order is cancelled'),\n";

/** One more word behind each note, one more member in each record: the version before reads on. */
export const addsToAll: readonly Edit[] = [
  { file: NOTE, from: '${hand}${later}`', to: "${hand}${later || ' lane hot'}`" },
  { file: BUNDLE, from: '`${VERSION} ${members.length}`', to: '`${VERSION} ${members.length} lane hot`' },
  {
    file: BUNDLE,
    from: 'JSON.stringify(notes)',
    to: "JSON.stringify(notes.map((note) => [...note, ...Array(5 - note.length).fill(null), 'hot']))",
  },
  {
    file: ENDS,
    from: '{ version: VERSION, ends: written }',
    to: "{ lane: 'hot', version: VERSION, ends: written.map((end) => [...end, 'hot']) }",
  },
  {
    file: 'libs/line/outcome-batch.ts',
    from: '{ version: VERSION, outcomes: rows }',
    to: "{ lane: 'hot', version: VERSION, outcomes: rows }",
  },
  {
    file: 'libs/line/kept/kept-store.ts',
    from: 'JSON.stringify({ ...publication,',
    to: "JSON.stringify({ lane: 'hot', ...publication,",
  },
];

/** The next number of each format, and the present one read as well: what no version may write whose neighbour does not read it. */
export const raisesNumbers: readonly Edit[] = [
  { file: NOTE, from: 'NOTE_VERSION = 1;', to: 'NOTE_VERSION = 2;' },
  { file: NOTE, from: '`^${NOTE_VERSION} (', to: '`^[12] (' },
  { file: BUNDLE, from: 'const VERSION = 1;', to: 'const VERSION = 2;' },
  { file: BUNDLE, from: '`^${VERSION} (', to: '`^[12] (' },
  { file: ENDS, from: 'const VERSION = 2;', to: 'const VERSION = 3;' },
  { file: ENDS, from: 'if (version !== VERSION)', to: 'if (version !== 2 && version !== VERSION)' },
];

/** One action more, `carrier.order.archived`. */
export const knowsMore: readonly Edit[] = [
  {
    file: 'libs/catalog/carrier/orders.ts',
    from: LAST_ORDER_ACTION,
    to: `${LAST_ORDER_ACTION}  order('order.archived', 'an order is archived'),\n`,
  },
];
