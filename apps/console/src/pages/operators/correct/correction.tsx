/**
 * The correction of a rejected event:
 *
 *   typing ─► checking ─► faulty   the faults, by line         ─► typing
 *                     ├─► failed   the check itself            ─► checking
 *                     └─► valid    what it is published as     ─► publishing ─► published
 *
 * What cannot be checked may still be published: then the API's answer to that is shown. The text is sent as it was typed, digit for
 * digit, except for blanks that the page itself has put between its tokens.
 */
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

/** A text is checked once nobody has typed for this long. */
const TYPING_MS = 500;

/** Texts typed by the user, by the id of the rejected message. They survive leaving the page and the end of a session, but no reload. */
const drafts = new Map<string, string>();

type CorrectionProps = { id: string; body: string; onPublished: (event: CorrectedEvent) => void };

/** The editor of a rejected event. It checks the text while one types, and keeps it whatever goes wrong. */
export function Correction({ id, body, onPublished }: CorrectionProps) {
  const isLaidOut = useMemo(() => isOnOneLine(body), [body]);
  const original = useMemo(() => (isLaidOut ? indented(body) : body), [body, isLaidOut]);
  const [text, setText] = useState(() => drafts.get(id) ?? original);
  const field = useRef<HTMLTextAreaElement>(null);
  const reportId = useId();
  const check = useCheck({ id, text, isLaidOut });
  const publish = usePublish(id, onPublished);
  useLeaveWarning(text !== original && !publish.isSuccess);
  const change = (next: string) => {
    drafts.set(id, next);
    setText(next);
  };
  const restore = () => {
    drafts.delete(id);
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
    mutationFn: (text: string) => answerOf(api.operator.POST('/v1/admin/rejected/{id}/publish', unparsed(id, text))),
    onSuccess: async (event) => {
      drafts.delete(id);
      notify('Published: the rejected one is gone.');
      onPublished(event);
      await queries.invalidateQueries({ queryKey: ['rejected'] });
    },
  });
}

/** Makes the browser ask before it closes a page with changes. */
function useLeaveWarning(matters: boolean): void {
  useEffect(() => {
    if (!matters) return undefined;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', warn);
    return () => removeEventListener('beforeunload', warn);
  }, [matters]);
}

/** Warns of invisible characters, and of those that change the direction of reading: a field cannot show them by their numbers. */
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

/** The result of the check: the faults, by place and line, or that the text is valid. */
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
    case 'valid':
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
  | { kind: 'valid'; event: CorrectedEvent }
  | { kind: 'faulty'; faults: readonly LocatedFault[] }
  | { kind: 'failed'; error: Error; again: () => void };

type CheckRun = {
  id: string;
  text: string;
  /** Whether the page has laid the text out: the blanks between its tokens are not sent. */
  isLaidOut: boolean;
};

/** Checks whether the text is a valid event, once nobody has typed for a moment. */
function useCheck({ id, text, isLaidOut }: CheckRun): EventCheck {
  const stable = useDebounced(text);
  // The key is a number: with the text as the key, the cache would hash a megabyte with every key pressed.
  const number = useMemo(() => numberFor(stable), [stable]);
  const query = useAnswer(
    ['check', id, number],
    ({ operator }) =>
      operator.POST('/v1/admin/rejected/{id}/check', unparsed(id, isLaidOut ? withoutBlanks(stable) : stable)),
    {
      gcTime: 0,
      staleTime: Infinity,
    },
  );
  const faults = useMemo(() => located(query.error, stable), [query.error, stable]);
  if (stable !== text) return { kind: 'checking' };
  if (query.isPending) return { kind: 'checking', trouble: query.failureReason ?? undefined };
  if (faults !== undefined) return { kind: 'faulty', faults };
  if (query.data === undefined) return { kind: 'failed', error: query.error, again: () => void query.refetch() };
  return { kind: 'valid', event: query.data };
}

/** Sends the text unparsed: parsing would lose digits. */
const unparsed = (id: string, text: string) => ({
  params: { path: { id } },
  // The document describes an object; the serializer sends the text as it is.
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

/** The text, once nobody has changed it for a moment. */
function useDebounced(text: string): string {
  const [stable, setStable] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setStable(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return stable;
}
