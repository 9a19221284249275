import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { told } from '../../api/ask.ts';
import { useSignedIn } from '../../session/session.ts';
import type { DeliveryDetail } from '../find/types.ts';
import { inTurn } from './in-turn.ts';
import type { Subscription } from './subscribing.ts';
import { isTaken } from './use-test.ts';

/** How far a subscription that was off has come. */
export type WayBack =
  | { kind: 'testing' | 'switching on' }
  /** Its receiver did not take the test, and it stays off. */
  | { kind: 'refused'; test: DeliveryDetail }
  /** `replay`: the guid of that of what it missed, where that was asked for and something was. */
  | { kind: 'on'; missed: Subscription['missed']; replay?: string }
  /** `isOn`: it is on, and only its replay could not begin. */
  | { kind: 'failed'; error: Error; isOn: boolean };

/** Each is a test of a receiver, which may take its time; more at once would be refused as too many requests. */
const AT_ONCE = 4;

/**
 * The way back of subscriptions that are off, each for itself in steps: a test, switching it on in place, replaying what it missed. Each
 * step follows where the one before went well; `goOn` switches one on whatever its test said. Once the dialog is closed, nothing more begins.
 */
export function useWaysBack(subscriptions: readonly Subscription[], isReplayed: boolean) {
  const take = useSteps(isReplayed);
  const queries = useQueryClient();
  const isClosed = useRef(false);
  const [ways, setWays] = useState<ReadonlyMap<string, WayBack>>(new Map());
  useEffect(() => {
    isClosed.current = false;
    return () => {
      isClosed.current = true;
    };
  }, []);
  const go = async (guid: string, isTested: boolean) => {
    const tell = (way: WayBack) => setWays((before) => new Map(before).set(guid, way));
    if (!isClosed.current) await take(guid, { isTested, tell, isClosed: () => isClosed.current });
  };
  const run = useMutation({
    mutationFn: async ({ guids, isTested }: { guids: readonly string[]; isTested: boolean }) =>
      inTurn(guids, { atOnce: AT_ONCE, work: async (guid) => go(guid, isTested) }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['subscriptions'] }),
  });
  const off = subscriptions.map(({ guid }) => guid).filter((guid) => !isOn(ways.get(guid)));
  return {
    ways,
    isRunning: run.isPending,
    isOver: off.length === 0,
    begin: () => run.mutate({ guids: off, isTested: true }),
    goOn: (guid: string) => run.mutate({ guids: [guid], isTested: false }),
  };
}

const isOn = (way: WayBack | undefined): boolean => way?.kind === 'on' || (way?.kind === 'failed' && way.isOn);

type Steps = { isTested: boolean; tell: (way: WayBack) => void; isClosed: () => boolean };

/** Takes one subscription back, step by step, as far as it goes. */
function useSteps(isReplayed: boolean) {
  const { client } = useSignedIn().ask;
  return async (guid: string, { isTested, tell, isClosed }: Steps): Promise<void> => {
    const params = { path: { guid } };
    let hasSwitched = false;
    try {
      if (isTested) {
        tell({ kind: 'testing' });
        const test = await told(client.POST('/v1/subscriptions/{guid}/test', { params }));
        if (!isTaken(test)) return tell({ kind: 'refused', test });
      }
      if (isClosed()) return;
      tell({ kind: 'switching on' });
      const { missed } = await told(client.PATCH('/v1/subscriptions/{guid}', { params, body: { is_active: true } }));
      hasSwitched = true;
      if (!isReplayed || isClosed() || (missed?.count ?? 0) === 0) return tell({ kind: 'on', missed });
      const replay = await told(client.POST('/v1/replays', { body: { subscription_guid: guid, missed: true } }));
      tell({ kind: 'on', missed, ...('guid' in replay && { replay: replay.guid }) });
    } catch (error) {
      tell({ kind: 'failed', error: error instanceof Error ? error : new Error(String(error)), isOn: hasSwitched });
    }
  };
}
