import type { Postgres } from '../postgres.ts';

type PlanNode = {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: PlanNode[];
};

export type WatchedPlans = Pick<Postgres, 'query'> & {
  /** How many rows of tables and indexes Postgres had to look at. Not the entries of a bitmap, of which a page has hundreds: the rows that it leads to. */
  rowsLookedAt(): number;
  /** How often it looked into a table, all its days together. */
  looksInto(table: string): number;
};

/** Passes queries on, and knows what Postgres had to do for them. */
export function watchPlans(postgres: Pick<Postgres, 'query'>): WatchedPlans {
  const scans: PlanNode[] = [];
  const query = async (asked: string | { text: string; values: unknown[] }, given: unknown[] = []) => {
    const { text, values } = typeof asked === 'string' ? { text: asked, values: given } : asked;
    const explained = await postgres.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `explain (analyze, timing off, format json) ${text}`,
      values,
    );
    for (const row of explained.rows) scans.push(...scansOf(row['QUERY PLAN'][0].Plan));
    return postgres.query({ text, values });
  };
  // History queries with one of the many forms that the driver's type has.
  return {
    query: query as unknown as Postgres['query'],
    rowsLookedAt: () =>
      scans.filter((scan) => scan['Node Type'] !== 'Bitmap Index Scan').reduce((sum, scan) => sum + rowsOf(scan), 0),
    looksInto: (table) =>
      scans
        .filter((scan) => scan['Relation Name']?.startsWith(`${table}_2`))
        .reduce((sum, scan) => sum + scan['Actual Loops'], 0),
  };
}

function scansOf(node: PlanNode): PlanNode[] {
  const own = node['Node Type'].endsWith('Scan') && node['Node Type'] !== 'Subquery Scan' ? [node] : [];
  return [...own, ...(node.Plans ?? []).flatMap(scansOf)];
}

function rowsOf(node: PlanNode): number {
  const passedOver = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  return (node['Actual Rows'] + passedOver) * node['Actual Loops'];
}
