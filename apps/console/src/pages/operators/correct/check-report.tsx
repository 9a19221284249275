import { ProblemAnswer } from '../../../api/problem.ts';
import { Failed } from '../../../parts/states.tsx';
import { Status } from '../../../parts/status.tsx';
import { Foreign } from '../../../parts/text-block.tsx';
import type { EventCheck } from './use-check.ts';

/** How the text stands: what is wrong with it, by place and line, or that it would be taken. */
export function CheckReport({ id, check, goTo }: { id: string; check: EventCheck; goTo: (line: number) => void }) {
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
