import { Link } from '@tanstack/react-router';
import { DataTable, type TableColumn } from '../../../parts/data-table.tsx';
import { Guid } from '../../../parts/guid.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { Foreign } from '../../../parts/text-block.tsx';
import { counted } from '../../../parts/counted.ts';
import { AccountLink, OwnerLinks } from '../links.tsx';
import type { Candidate } from '../types.ts';

/** Limit of the candidates shown of each kind. */
const MOST_OF_A_KIND = 20;
const HOST_OR_URL = /[.:]/;

/** Possible meanings of a text, each with a link. */
export function Candidates({ text, candidates }: { text: string; candidates: readonly Candidate[] }) {
  const hasMore = candidates.length >= MOST_OF_A_KIND;
  const isEndpoint = HOST_OR_URL.test(text) && candidates.some(({ kind }) => kind === 'subscription');
  return (
    <section className="part" aria-labelledby="why-candidates">
      <div className="line">
        <h2 id="why-candidates">
          {hasMore ? `${candidates.length} matches or more` : counted(candidates.length, 'match', 'matches')}
        </h2>
        {isEndpoint && (
          <Link to="/deliveries" search={{ endpoint: text }}>
            Deliveries to this endpoint
          </Link>
        )}
      </div>
      <DataTable
        label="Matches"
        rows={candidates.map((candidate) => ({ candidate, text }))}
        columns={columns}
        keyOf={({ candidate }) => JSON.stringify(candidate)}
      />
    </section>
  );
}

type MatchRow = { candidate: Candidate; text: string };

const columns: readonly TableColumn<MatchRow>[] = [
  { header: 'Match', cell: (row) => <Leading {...row} /> },
  { header: 'Kind', value: ({ candidate }) => kindOf(candidate), cell: ({ candidate }) => kindOf(candidate) },
  { header: 'About', cell: ({ candidate }) => <Described candidate={candidate} /> },
  {
    header: 'Account, client',
    cell: ({ candidate }) => 'client_id' in candidate && <OwnerLinks {...candidate} />,
  },
  { header: 'Time', value: ({ candidate: { at } }) => at, cell: ({ candidate: { at } }) => <Moment at={at} /> },
];

const kindOf = (candidate: Candidate): string =>
  candidate.kind === 'key' ? candidate.key_kind.replaceAll('_', ' ') : candidate.kind;

function Leading({ candidate, text }: MatchRow) {
  if (candidate.kind === 'account') return <AccountLink account={candidate} />;
  if (candidate.kind === 'key') {
    return (
      <Link to="/why" search={{ text, as: 'key', kind: candidate.key_kind }}>
        <Foreign text={candidate.key} />
      </Link>
    );
  }
  return (
    <Link to="/why" search={{ text: candidate.guid, as: candidate.kind }}>
      <Guid guid={candidate.guid} />
    </Link>
  );
}

function Described({ candidate }: { candidate: Candidate }) {
  if (candidate.kind === 'key')
    return candidate.events >= 1_000 ? '1,000 events or more' : counted(candidate.events, 'event');
  return (
    <>
      {candidate.kind !== 'account' && candidate.action} <span className="tag">{candidate.interface}</span>
      {candidate.kind === 'subscription' && (
        <div>
          <Foreign text={candidate.url} />
        </div>
      )}
    </>
  );
}
