import { useMemo } from 'react';
import { ProblemAnswer, type ProblemFault } from '../../../api/problem.ts';
import { useTold } from '../../../api/use-told.ts';
import { useDebounced } from '../../../parts/use-debounced.ts';
import type { CorrectedEvent } from '../types.ts';
import { placesIn } from './json-places.ts';
import { withoutBlanks } from './layout.ts';

const TYPING_MS = 500;

export type LocatedFault = { pointer: string; detail: string; line: number };

export type EventCheck =
  | { kind: 'checking'; trouble?: Error | undefined }
  | { kind: 'taken'; event: CorrectedEvent }
  | { kind: 'faulty'; faults: readonly LocatedFault[] }
  | { kind: 'failed'; error: Error; again: () => void };

type CheckRun = {
  id: string;
  text: string;
  /** Whether the blanks between its parts are the page's, and do not go along. */
  isLaidOut: boolean;
};

/** Whether the text would be taken as an event, asked once nobody has typed for a moment. */
export function useCheck({ id, text, isLaidOut }: CheckRun): EventCheck {
  const settled = useDebounced(text, TYPING_MS);
  // The key is a number: the text itself would make the cache write a megabyte with every key pressed.
  const number = useMemo(() => numberFor(settled), [settled]);
  const query = useTold(
    ['check', id, number],
    ({ operator }) => operator.POST(...checkOf(id, isLaidOut ? withoutBlanks(settled) : settled)),
    {
      gcTime: 0,
      staleTime: Infinity,
    },
  );
  const faults = useMemo(() => located(query.error, settled), [query.error, settled]);
  if (settled !== text) return { kind: 'checking' };
  if (query.isPending) return { kind: 'checking', trouble: query.failureReason ?? undefined };
  if (faults !== undefined) return { kind: 'faulty', faults };
  if (query.data === undefined) return { kind: 'failed', error: query.error, again: () => void query.refetch() };
  return { kind: 'taken', event: query.data };
}

let lastNumber = 0;
const numberFor = (_text: string): number => (lastNumber += 1);

/** The text goes as it stands: to parse it would lose digits. */
export const asItStands = (id: string, text: string) => ({
  params: { path: { id } },
  // The document calls it an object; the serializer writes it as the text that it is.
  body: text as unknown as Record<string, never>,
  bodySerializer: String,
  headers: { 'content-type': 'application/json' },
});

const checkOf = (id: string, text: string) => ['/v1/admin/rejected/{id}/check', asItStands(id, text)] as const;

function located(error: Error | null, text: string): LocatedFault[] | undefined {
  if (!(error instanceof ProblemAnswer) || error.status !== 422) return undefined;
  const faults: readonly ProblemFault[] = error.faults.length > 0 ? error.faults : [{ detail: error.message }];
  return faults.map(({ pointer = '#', detail }) => {
    const { line, brokenLine } = placesIn(text, pointer);
    return { pointer, detail, line: brokenLine ?? line };
  });
}
