import { Moment } from '../../parts/moment.tsx';
import { useNow } from '../../parts/use-now.ts';
import { certificateEnd } from './types.ts';

/** When a certificate expires. */
export function CertificateEnd({ at }: { at: string }) {
  const { isMarked, words, more } = certificateEnd(Date.parse(at) - useNow(false));
  return (
    <div className={isMarked ? 'bad' : ''}>
      {words}, <Moment at={at} />
      {more}
    </div>
  );
}
