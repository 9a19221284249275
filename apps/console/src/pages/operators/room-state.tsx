import { Moment } from '../../parts/moment.tsx';
import type { WaitingDestination, WaitingEndpoint } from './types.ts';

type Room = Pick<WaitingEndpoint | WaitingDestination, 'shut_since' | 'is_claimed' | 'next_try_at'>;

/** Since when a room takes nothing, and when it is tried next. */
export function RoomState({ room: { shut_since, is_claimed, next_try_at } }: { room: Room }) {
  return (
    <div className="small">
      {shut_since !== null && (
        <>
          takes nothing since <Moment at={shut_since} />,{' '}
        </>
      )}
      {is_claimed || next_try_at === null ? (
        'being tried now'
      ) : (
        <>
          next try <Moment at={next_try_at} />
        </>
      )}
    </div>
  );
}
