import { askForTrigger, type TriggerRefusal } from '../../by-hand/trigger.ts';
import type { Interface } from '@waybell/catalog/action';
import type { EventLimits } from '@waybell/events/read-event';
import { notify } from '@waybell/notifications/notification';
import { Router } from 'express';
import { requireScope } from '../authentication/authenticate.ts';
import { answerObject } from '../http/answer-for.ts';
import { readExactJson } from '../http/body.ts';
import { Problem } from '../http/problem.ts';
import { stoppedProblem } from '../deliveries/by-hand.ts';
import { addPath, type RouteOptions } from '../http/routes.ts';
import { listActions, requireFeature, type ActionList } from '../subscriptions/find-action.ts';
import { makeEvent, readTrigger } from './trigger-request.ts';

export type TriggerOptions = Pick<RouteOptions, 'authenticate' | 'database' | 'catalog'> & { eventLimits: EventLimits };

/** Sends events that never happened to the client's own subscriptions. The same on either interface. */
export function triggerRoutes({ authenticate, database, catalog, eventLimits: limits }: TriggerOptions): Router {
  const router = Router({ caseSensitive: true });
  const actions: Record<Interface, ActionList> = {
    shipper: listActions('shipper', catalog),
    carrier: listActions('carrier', catalog),
  };

  addPath(router, ['/v1/triggers'], {
    async post(request, response) {
      const caller = await authenticate(request);
      requireScope(caller, 'webhooks:write');
      const trigger = readTrigger(await readExactJson(request, response));
      const action = actions[caller.interface].find(trigger.action, response);
      requireFeature(action, caller);
      const event = await makeEvent(trigger, { action, caller, limits });
      const client = { account: caller.accountGuid, client: caller.clientId, interface: caller.interface };
      const asked = await database.change(caller.actor, (postgres) =>
        askForTrigger(postgres, {
          event: event.guid,
          action: event.action.name,
          client,
          isEverywhere: trigger.isEverywhere,
          by: caller.actor.who,
          bodyFor: notify(event),
        }),
      );
      if (asked.kind === 'refused') throw refused(asked, action.name);
      const { deliveries, suppressed } = asked;
      answerObject(caller, response.status(202), {
        event_guid: event.guid,
        unknown_members: event.unknownMembers.places,
        deliveries: deliveries.map(({ delivery, ...to }) => ({ delivery_guid: delivery, ...toView(to) })),
        suppressed: suppressed.map(({ reason, ...to }) => ({ reason, ...toView(to) })),
      });
    },
  });

  return router;
}

const toView = ({ subscription, isListener }: { subscription: string; isListener: boolean }) => ({
  subscription_guid: subscription,
  is_listener: isListener,
});

function refused(refusal: TriggerRefusal, action: string): Problem {
  switch (refusal.why) {
    case 'stopped':
      return stoppedProblem(refusal.stop);
    case 'unsubscribed':
      return new Problem(
        'nobody-subscribed',
        `This client is not subscribed to ${action}: subscribe first, or start "./waybell listen".`,
      );
    case 'elsewhere':
      return new Problem(
        'nobody-subscribed',
        `The listener that runs does not take ${action}: start one that does, or ask for it "everywhere".`,
      );
  }
}
