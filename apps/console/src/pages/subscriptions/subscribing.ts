import type { components } from '../../api/client-api.d.ts';
import type { Session } from '../../session/session.ts';
import { told } from '../../api/ask.ts';

export type Subscription = components['schemas']['Subscription'];
export type CarrierActionName = components['schemas']['CarrierActionName'];
export type ShipperActionName = components['schemas']['ShipperActionName'];

/** An action that the account may subscribe to. */
export type OfferedAction = { action: string; description: string; audit_fields?: string[] };

export type SubscribeFields = { action: string; callbackUrl: string; auditFieldSet?: string[] | undefined };

/** What differs from one interface to the other. Action names are those that the API itself has told. */
export function subscribing({ ask: { client }, interface: interfaceName }: Session) {
  return interfaceName === 'shipper' ? shipperSubscribing(client) : carrierSubscribing(client);
}

type ClientCalls = Session['ask']['client'];

type Subscribing = {
  offered: () => Promise<OfferedAction[]>;
  subscribe: (wish: SubscribeFields) => Promise<unknown>;
  /** Sends to another address from now on than the one of before. Switches on what was switched off. */
  change: (wish: SubscribeFields, before: string) => Promise<unknown>;
  end: (action: string) => Promise<unknown>;
  verificationToken: (action: string) => Promise<string | undefined>;
  /** What the revision form of the current subscription tells of; undefined where it has the plain form. */
  auditFieldSet: (action: string) => Promise<string[] | undefined>;
};

function shipperSubscribing(client: ClientCalls): Subscribing {
  const subscribe = ({ action, callbackUrl, auditFieldSet }: SubscribeFields) =>
    told(
      client.POST('/v1/public/webhooks/{webhook_action}/subscribe', {
        params: { path: { webhook_action: action as ShipperActionName } },
        // Which names an action takes, the API says of it.
        body: { callback_url: callbackUrl, ...(auditFieldSet && { audit_field_set: auditFieldSet as never[] }) },
      }),
    );
  const current = async (action: string) => {
    const { objects } = await told(client.GET('/v1/public/webhooks'));
    return (
      objects.find((each) => each.action === action && each.is_active) ?? objects.find((each) => each.action === action)
    );
  };
  return {
    offered: async () => (await told(client.GET('/v1/public/webhooks/action_types'))).objects,
    subscribe,
    change: subscribe,
    end: (action) =>
      told(
        client.POST('/v1/public/webhooks/{webhook_action}/unsubscribe', {
          params: { path: { webhook_action: action as ShipperActionName } },
        }),
      ),
    verificationToken: async (action) => (await current(action))?.verification_token,
    // Names, whatever the action.
    auditFieldSet: async (action) => (await current(action))?.audit_field_set as string[] | undefined,
  };
}

function carrierSubscribing(client: ClientCalls): Subscribing {
  const at = (action: string) => ({ params: { path: { webhook_action: action as CarrierActionName } } });
  const subscribe = ({ action, callbackUrl }: SubscribeFields) =>
    told(
      client.POST('/v1/webhooks/{webhook_action}/subscriptions/', {
        ...at(action),
        body: { callback_url: callbackUrl },
      }),
    );
  const end = (action: string) => told(client.DELETE('/v1/webhooks/{webhook_action}/subscriptions/', at(action)));
  return {
    offered: () => told(client.GET('/v1/webhooks/')),
    subscribe,
    change: async (wish, before) => {
      await end(wish.action);
      try {
        return await subscribe(wish);
      } catch (error) {
        // The interface has no way to replace one: rather the one of before than none.
        await subscribe({ action: wish.action, callbackUrl: before });
        throw error;
      }
    },
    end,
    verificationToken: async (action) => {
      const [current] = await told(client.GET('/v1/webhooks/{webhook_action}/subscriptions/', at(action)));
      return current?.verification_token;
    },
    auditFieldSet: async () => undefined,
  };
}
