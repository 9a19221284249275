import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useId, useMemo, useRef, useState } from 'react';
import { told } from '../../../api/ask.ts';
import { useTell } from '../../../parts/notices.tsx';
import { Failed } from '../../../parts/states.tsx';
import { hiddenSigns, indented } from '../../../parts/text-block.tsx';
import { useSignedIn } from '../../../session/session.ts';
import { counted } from '../../../parts/counted.ts';
import type { CorrectedEvent } from '../types.ts';
import { CheckReport } from './check-report.tsx';
import { draftOf, forgetDraft, keepDraft } from './drafts.ts';
import { Editor, goToLine } from './editor.tsx';
import { isOnOneLine, withoutBlanks } from './layout.ts';
import { asItStands, useCheck } from './use-check.ts';

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
  const isTakenCare = publish.isPending || publish.isSuccess;
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
          disabled={isTakenCare || check.kind === 'faulty' || check.kind === 'checking'}
          onClick={() => publish.mutate(isLaidOut ? withoutBlanks(text) : text)}
        >
          {publish.isPending ? 'Publishing …' : 'Publish'}
        </button>
        <button type="button" disabled={text === original || isTakenCare} onClick={restore}>
          Reset
        </button>
      </div>
    </>
  );
}

function usePublish(id: string, onPublished: (event: CorrectedEvent) => void) {
  const { ask } = useSignedIn();
  const queries = useQueryClient();
  const tell = useTell();
  return useMutation({
    mutationFn: (text: string) => told(ask.operator.POST('/v1/admin/rejected/{id}/publish', asItStands(id, text))),
    onSuccess: async (event) => {
      forgetDraft(id);
      tell('Published: the rejected one is gone.');
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
