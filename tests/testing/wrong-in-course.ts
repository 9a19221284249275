import type { Attempted } from '@waybell/line/outcomes';
import type { Seen } from './books.ts';
import type { Addressee, Answers, Ending, Owed } from './owed.ts';

export type Course = { owed: Owed; ending: Ending; requests: readonly Seen[]; records: readonly Attempted[] };

/**
 * Returns what is wrong with the way to a right end: each attempt must be one request with the expected bytes, the receiver's
 * answer, and one record of it. Undefined if nothing is.
 */
export function wrongInCourse({ owed, ending, requests, records }: Course): string | undefined {
  const { kind } = ending;
  const answers = answersOf(ending, requests);
  if (answers === undefined) return 'the answers that came do not lead to it';
  const lostOnTheWay = (attempt: number) =>
    mayGetLost(ending) &&
    requests.every((request) => request.attempt !== attempt) &&
    records.some((record) => record.attempt === attempt && isUnanswered(record));
  const isWhole = kind === 'delivered' || kind === 'exhausted';
  const made = isWhole ? answers.length : Math.max(0, ...requests.map(({ attempt }) => attempt));
  // A deliverer that died with a request in hand finds the subscription off when it comes back to it.
  const cut = records.flatMap((record) => (record.kind === 'dropped' ? [record.attempt] : []));
  const attempts = Array.from({ length: made }, (_, index) => index + 1).filter(
    (each) => (isWhole || !cut.includes(each)) && !lostOnTheWay(each),
  );
  const last = isWhole ? answers.length : undefined;
  return firstOf([
    ...requests.map((request) => wrongInRequest(request, owed, answers.length)),
    ...attempts.map((attempt) => {
      const status = answers[attempt - 1];
      const asked = requests.filter((request) => request.attempt === attempt);
      const told = records.filter((record) => record.attempt === attempt && record.kind !== 'dropped');
      return wrongInAttempt({ attempt, status, kind: attempt === last ? kind : 'failed', asked, told });
    }),
    // One that was published again is the same.
    ...[...Map.groupBy(distinct(records), ({ attempt }) => attempt)].map(([attempt, told]) => {
      const asked = requests.filter((request) => request.attempt === attempt).length;
      return told.length > asked && !lostOnTheWay(attempt)
        ? `attempt ${attempt} is recorded ${told.length} times, made ${asked} times`
        : undefined;
    }),
  ]);
}

/** Undefined where they were not foreseen, and came otherwise than at this end. */
function answersOf(ending: Ending, requests: readonly Seen[]): Answers | undefined {
  const { answers = [] } = { answers: undefined, ...ending };
  if (!('most' in answers)) return answers;
  const made = Math.min(answers.most, Math.max(0, ...requests.map(({ attempt }) => attempt)));
  const came = Array.from({ length: made }, (_, index) => {
    return requests.find(({ attempt, answered }) => attempt === index + 1 && answered !== undefined)?.answered;
  });
  const last = came.at(-1) ?? 0;
  const isSuccess = last >= 200 && last < 300;
  if (ending.kind === 'delivered' && !isSuccess) return undefined;
  return ending.kind === 'exhausted' && (isSuccess || made < answers.most) ? undefined : came;
}

function mayGetLost(ending: Ending): boolean {
  return 'answers' in ending && ending.answers !== undefined && 'mayGetLost' in ending.answers;
}

function isUnanswered(record: Attempted): boolean {
  return record.kind === 'failed' && record.answer.status === undefined;
}

function wrongInRequest({ attempt, path, body, token }: Seen, { to }: Owed, most: number): string | undefined {
  if (attempt > most || attempt < 1) return `attempt ${attempt} was made, of ${most}`;
  if (to === undefined || (path !== to.path && !hasMovedTo(path, to)))
    return `attempt ${attempt} went to ${path} instead of ${to?.path}`;
  if (token !== to.token) return `attempt ${attempt} carries another verification token`;
  return body === to.body ? undefined : `attempt ${attempt} carries ${body} instead of ${to.body}`;
}

function hasMovedTo(path: string, { path: before, moves = [] }: Addressee): boolean {
  return moves.indexOf(path) > moves.indexOf(before);
}

type AnAttempt = { attempt: number; status: number | undefined; kind: string; asked: Seen[]; told: Attempted[] };

function wrongInAttempt({ attempt, status, kind, asked, told }: AnAttempt): string | undefined {
  if (asked.length === 0) return `attempt ${attempt} never came`;
  // One that was cut by a fault has no answer, and is made again.
  if (!asked.some(({ answered }) => answered === status)) return `attempt ${attempt} was not answered with ${status}`;
  const other = asked.find(({ answered }) => answered !== undefined && answered !== status);
  if (other !== undefined) return `attempt ${attempt} was answered with ${other.answered}`;
  if (told.length === 0) return `attempt ${attempt} has no record`;
  const wrong = told.find((record) => record.kind !== kind || !('answer' in record) || record.answer.status !== status);
  return wrong && `attempt ${attempt} is recorded as ${wrong.kind} instead of ${kind} with ${status}`;
}

function distinct(records: readonly Attempted[]): Attempted[] {
  const made = records.filter(({ kind }) => kind !== 'dropped');
  return [...new Map(made.map((record) => [`${record.attempt} ${record.kind} ${record.at}`, record])).values()];
}

const firstOf = (wrongs: readonly (string | undefined)[]) => wrongs.find((wrong) => wrong !== undefined);
