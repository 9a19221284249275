import type { ReactNode } from 'react';
import { Moment } from '../../parts/moment.tsx';
import { Status } from '../../parts/status.tsx';
import { Foreign } from '../../parts/text-block.tsx';
import type { Verdict } from './types.ts';

type Of<Kind extends Verdict['kind']> = Omit<Extract<Verdict, { kind: Kind }>, 'kind'>;

/** Explains why an event made no delivery for `recipient`. */
export function Suppressed({ verdict, recipient }: { verdict: Of<'suppressed'>; recipient?: ReactNode }) {
  return (
    <p className="verdict">
      <Status of="suppressed" /> {recipient} <code>{verdict.cause ?? verdict.reason}</code> {verdict.meaning}{' '}
      <em>{verdict.remedy}</em>
      {verdict.cause_at !== undefined && (
        <>
          {' '}
          (<Moment at={verdict.cause_at} />)
        </>
      )}
    </p>
  );
}

/** Why the line refused an event, and `next`, what can be done about it here. */
export function RejectedVerdict({ verdict, next }: { verdict: Of<'rejected'>; next?: ReactNode }) {
  return (
    <p className="verdict">
      <Status of="rejected" /> <code>{verdict.reason}</code> {verdict.meaning} <Foreign text={verdict.detail} />{' '}
      <em>{verdict.remedy}</em> {next}
    </p>
  );
}
