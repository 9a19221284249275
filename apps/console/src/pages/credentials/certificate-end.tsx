import { Moment } from '../../parts/moment.tsx';
import { useNow } from '../../parts/use-now.ts';

const DAY_MS = 86_400_000;
/** Days before its end at which the platform gets a notice. */
const SOON_DAYS = 30;

/** When a certificate expires, in days: marked once it has to be replaced. */
export function CertificateEnd({ at }: { at: string }) {
  const leftMs = Date.parse(at) - useNow(false);
  const isOver = leftMs <= 0;
  const isSoon = leftMs < SOON_DAYS * DAY_MS;
  return (
    <div className={isSoon ? 'bad' : ''}>
      {isOver ? `Expired ${inDays(-leftMs)} ago` : `Expires in ${inDays(leftMs)}`}, <Moment at={at} />
      {isOver && ': receivers refuse it'}
      {isSoon && !isOver && ': replace it before then'}
    </div>
  );
}

function inDays(ms: number): string {
  const days = Math.floor(ms / DAY_MS);
  if (days === 0) return 'less than a day';
  return days === 1 ? '1 day' : `${days.toLocaleString()} days`;
}
