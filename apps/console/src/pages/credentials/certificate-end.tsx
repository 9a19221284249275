import { Moment } from '../../parts/moment.tsx';
import { useNow } from '../../parts/use-now.ts';

const DAY_MS = 86_400_000;
/** As many days ahead of its end as the platform is told of it. */
const SOON_DAYS = 30;

/** When a certificate ends, in days: as a warning once it is to be replaced, as a fault once it is over. */
export function CertificateEnd({ at }: { at: string }) {
  const leftMs = Date.parse(at) - useNow(false);
  const isOver = leftMs <= 0;
  const isSoon = leftMs < SOON_DAYS * DAY_MS;
  return (
    <div className={isOver ? 'bad' : isSoon ? 'retry' : ''}>
      {isOver ? `ended ${inDays(-leftMs)} ago` : `ends in ${inDays(leftMs)}`}, <Moment at={at} />
      {isOver && ': receivers refuse it'}
      {isSoon && !isOver && ': put in the next one before'}
    </div>
  );
}

function inDays(ms: number): string {
  const days = Math.floor(ms / DAY_MS);
  if (days === 0) return 'less than a day';
  return days === 1 ? '1 day' : `${days.toLocaleString()} days`;
}
