import { Link } from '@tanstack/react-router';
import { Moment } from '../../../parts/moment.tsx';
import { Foreign } from '../../../parts/text-block.tsx';
import { counted } from '../counted.ts';
import type { Candidate } from '../types.ts';

/** What a text may mean, to choose from. */
export function Candidates({ text, candidates }: { text: string; candidates: readonly Candidate[] }) {
  return (
    <section className="part" aria-labelledby="why-candidates">
      <h2 id="why-candidates">It may mean several things</h2>
      <ul className="candidates">
        {candidates.map((candidate) => (
          <li key={JSON.stringify(candidate)} className="card line">
            <Link
              to="/why/$text"
              params={{ text: candidate.kind === 'key' ? text : candidate.guid }}
              search={asked(candidate)}
            >
              {named(candidate)}
            </Link>
            <Described candidate={candidate} />
            <Moment at={candidate.at} />
          </li>
        ))}
      </ul>
    </section>
  );
}

const asked = (candidate: Candidate) => ({
  as: candidate.kind,
  ...(candidate.kind === 'key' && { kind: candidate.key_kind }),
});

const named = (candidate: Candidate): string =>
  candidate.kind === 'key' ? candidate.key_kind : `${candidate.kind} ${candidate.guid}`;

function Described({ candidate }: { candidate: Candidate }) {
  switch (candidate.kind) {
    case 'key':
      return (
        <span>
          <Foreign text={candidate.key} /> in{' '}
          {candidate.events >= 1_000 ? '1,000 events or more' : counted(candidate.events, 'event')}
        </span>
      );
    case 'account':
      return (
        <span>
          <span className="tag">{candidate.interface}</span>{' '}
          {candidate.name !== null && <Foreign text={candidate.name} />}
        </span>
      );
    default:
      return (
        <span>
          <span className="tag">{candidate.interface}</span> {candidate.action}
        </span>
      );
  }
}
