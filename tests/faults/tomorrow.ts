/** Formats that a later version may write, as changes of this one: tried on processes before such a version exists. */
import type { Edit } from './other-sources.ts';

const BATCH = 'libs/line/delivery-batch.ts';
const ENDS = 'libs/line/outcome-batch.ts';

/** One more word behind each note, one more member in each record: the version before reads on. */
export const addsToAll: readonly Edit[] = [
  { file: BATCH, from: 'plain + due + hand;', to: "plain + due + hand + ' lane hot';" },
  { file: BATCH, from: '`${VERSION} ${members.length}`', to: '`${VERSION} ${members.length} lane hot`' },
  {
    file: BATCH,
    from: 'JSON.stringify(heads)',
    to: "JSON.stringify(heads.map((head) => [...head, ...Array(5 - head.length).fill(null), 'hot']))",
  },
  {
    file: ENDS,
    from: 'ends: of.ends,',
    to: "lane: 'hot', ends: of.ends.map((row) => [...(row as unknown[]), null, null].slice(0, 7).concat('hot')),",
  },
  {
    file: 'libs/line/outcome-batch.ts',
    from: '{ version: VERSION, outcomes: rows }',
    to: "{ lane: 'hot', version: VERSION, outcomes: rows.map((row) => ({ ...row, lane: 'hot' })) }",
  },
  {
    file: BATCH,
    from: "JSON.stringify({ kind: 'publish',",
    to: "JSON.stringify({ lane: 'hot', kind: 'publish',",
  },
];
