import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useId, useMemo, useRef, useState } from 'react';
import { answerOf } from '../../../api/create-api.ts';
import { ProblemAnswer, type ProblemFault } from '../../../api/problem.ts';
import { useAnswer } from '../../../api/use-answer.ts';
import { useNotify } from '../../../parts/notices.tsx';
import { Failed } from '../../../parts/states.tsx';
import { Foreign, hiddenSigns, indented } from '../../../parts/text-block.tsx';
import { Status } from '../../../parts/values.tsx';
import { counted } from '../../../parts/words.ts';
import { useSignedIn } from '../../../session/session.ts';
import type { CorrectedEvent } from '../types.ts';
import { Editor, goToLine } from './editor.tsx';
import { isOnOneLine, placesIn, withoutBlanks } from './json-text.ts';

const TYPING_MS = 500;

type CorrectionProps = { id: string; body: string; onPublished: (event: CorrectedEvent) => void };

/** The editor of a rejected event: it checks while one types, and keeps the text whatever goes wrong. */
export function Correction({ id, body, onPublished }: CorrectionProps) {
  const isLaidOut = useMemo(() => isOnOneLine(body), [body]);
  const original = useMemo(() => (isLaidOut ? indented(body) : body), [body, isLaidOut]);
  const [text, setText] = useState(() => draftOf(id) ?? original);
  const field = useRef<HTMLTextAreaElement>(null);
  const reportId = useId();
  const check = useCheck({ id, text, isLaidOut });
  const publish = usePublish(id, onPublished);
  useLeaveWarning(text !== original && !publish.isSuccess);
  const change = (next: string) => {
    keepDraft(id, next);
    setText(next);
  };
  const restore = () => {
    forgetDraft(id);
    setText(original);
  };
  const goTo = (line: number) => goToLine(field.current, line);
  const isPublishing = publish.isPending || publish.isSuccess;
  return (
    <>
      <CheckReport id={reportId} check={check} goTo={goTo} />
      <Editor
        label="Event to publish"
        text={text}
        change={change}
        faultyLines={check.kind === 'faulty' ? [...new Set(check.faults.map(({ line }) => line))] : []}
        field={field}
        describedBy={reportId}
      />
      <HiddenSigns text={text} goTo={goTo} />
      {publish.error !== null && <Failed error={publish.error} />}
      <div className="tools">
        <button
          type="button"
          className="main"
          disabled={isPublishing || check.kind === 'faulty' || check.kind === 'checking'}
          onClick={() => publish.mutate(isLaidOut ? withoutBlanks(text) : text)}
        >
          {publish.isPending ? 'Publishing …' : 'Publish'}
        </button>
        <button type="button" disabled={text === original || isPublishing} onClick={restore}>
          Reset
        </button>
      </div>
    </>
  );
}

function usePublish(id: string, onPublished: (event: CorrectedEvent) => void) {
  const { api } = useSignedIn();
  const queries = useQueryClient();
  const notify = useNotify();
  return useMutation({
    mutationFn: (text: string) => answerOf(api.operator.POST('/v1/admin/rejected/{id}/publish', asItStands(id, text))),
    onSuccess: async (event) => {
      forgetDraft(id);
      notify('Published: the rejected one is gone.');
      onPublished(event);
      await queries.invalidateQueries({ queryKey: ['rejected'] });
    },
  });
}

/** The browser asks before it closes a page with what was typed. */
function useLeaveWarning(matters: boolean): void {
  useEffect(() => {
    if (!matters) return undefined;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', warn);
    return () => removeEventListener('beforeunload', warn);
  }, [matters]);
}

/** In a field, what is not seen, or turns the direction of reading, cannot be shown by its number: it is told beside it. */
function HiddenSigns({ text, goTo }: { text: string; goTo: (line: number) => void }) {
  const { count, first } = hiddenSigns(text);
  if (first === undefined) return null;
  return (
    <p className="why">
      <strong>{counted(count, 'sign')} that cannot be seen, or that turn the direction of reading</strong>, the first{' '}
      <code>{first.name}</code> in{' '}
      <button type="button" className="quiet" onClick={() => goTo(first.line)}>
        line {first.line}
      </button>
      : the text may read otherwise than it is.
    </p>
  );
}

/** How the text stands: what is wrong with it, by place and line, or that it would be taken. */
function CheckReport({ id, check, goTo }: { id: string; check: EventCheck; goTo: (line: number) => void }) {
  return (
    <div id={id} className="checked" role="status">
      <Report check={check} goTo={goTo} />
    </div>
  );
}

function Report({ check, goTo }: { check: EventCheck; goTo: (line: number) => void }) {
  switch (check.kind) {
    case 'checking': {
      const { trouble } = check;
      if (trouble === undefined) return <p>Checking …</p>;
      const isBounded = trouble instanceof ProblemAnswer && trouble.kind === 'too-many-requests';
      return <p>{isBounded ? 'Too many requests: checked again in a moment.' : trouble.message}</p>;
    }
    case 'failed':
      return <Failed error={check.error} retry={check.again} />;
    case 'taken':
      return (
        <>
          <p>
            <Status of="valid" /> Valid: it is published as <code>{check.event.routing_key}</code>.
          </p>
          <UnknownMembers places={check.event.unknown_members} />
        </>
      );
    case 'faulty':
      return (
        <ul>
          {check.faults.map(({ pointer, detail, line }) => (
            <li key={`${pointer} ${detail}`}>
              <button type="button" className="quiet" onClick={() => goTo(line)}>
                Line {line}
              </button>{' '}
              {!detail.includes(pointer.slice(1)) && (
                <code>
                  <Foreign text={pointer} />
                </code>
              )}{' '}
              <Foreign text={detail} />
            </li>
          ))}
        </ul>
      );
  }
}

export function UnknownMembers({ places }: { places: readonly string[] }) {
  if (places.length === 0) return null;
  return (
    <p>
      The contract does not know these members, and notifications leave them out: <Foreign text={places.join(', ')} />
    </p>
  );
}

type LocatedFault = { pointer: string; detail: string; line: number };

type EventCheck =
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
function useCheck({ id, text, isLaidOut }: CheckRun): EventCheck {
  const settled = useDebounced(text, TYPING_MS);
  // The key is a number: the text itself would make the cache write a megabyte with every key pressed.
  const number = useMemo(() => numberFor(settled), [settled]);
  const query = useAnswer(
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

const checkOf = (id: string, text: string) => ['/v1/admin/rejected/{id}/check', asItStands(id, text)] as const;

/** The text goes as it stands: to parse it would lose digits. */
const asItStands = (id: string, text: string) => ({
  params: { path: { id } },
  // The document calls it an object; the serializer writes it as the text that it is.
  body: text as unknown as Record<string, never>,
  bodySerializer: String,
  headers: { 'content-type': 'application/json' },
});

let lastNumber = 0;
const numberFor = (_text: string): number => (lastNumber += 1);

function located(error: Error | null, text: string): LocatedFault[] | undefined {
  if (!(error instanceof ProblemAnswer) || error.status !== 422) return undefined;
  const faults: readonly ProblemFault[] = error.faults.length > 0 ? error.faults : [{ detail: error.message }];
  return faults.map(({ pointer = '#', detail }) => {
    const { line, brokenLine } = placesIn(text, pointer);
    return { pointer, detail, line: brokenLine ?? line };
  });
}

/** A value once it has stayed the same for `ms`. */
function useDebounced<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}

/**
 * Texts typed by the user, by the id of the corrected message: they survive leaving the page and the end of a session, but no
 * reload.
 */
const drafts = new Map<string, string>();

const draftOf = (id: string): string | undefined => drafts.get(id);

function keepDraft(id: string, text: string): void {
  drafts.set(id, text);
}

function forgetDraft(id: string): void {
  drafts.delete(id);
}
