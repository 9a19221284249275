import { describe, expect, test } from '@jest/globals';
import { actionNames } from './action-names.ts';
import { createReceiver } from './create-receiver.ts';
import { parseNotification, type NotificationOf } from './parse-notification.ts';
import { signedRequest } from './signed-request.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const about = { interface: 'carrier', action: 'order.created', secret } as const;

/** Compiles, or does not: that is the test. */
describe('the types', () => {
  const complete = (notification: NotificationOf<'carrier'>): string => {
    switch (notification.action) {
      case 'order.created':
        return String(notification.data.id);
      case 'order.assigned':
      case 'order.updated':
      case 'order.picked_up':
      case 'order.delivered':
      case 'order.cancelled':
      case 'damage.created':
      case 'damage.deleted':
        return notification.guid;
      default:
        return notification satisfies never;
    }
  };
  const incomplete = (notification: NotificationOf<'carrier'>): string => {
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- what the compiler says of it is looked at
    switch (notification.action) {
      case 'order.created':
        return 'created';
      default:
        // @ts-expect-error: seven actions are missing.
        return notification satisfies never;
    }
  };

  test('complete a switch over every action', () => {
    const parsed = parseNotification(
      'carrier',
      signedRequest({ ...about, id: 'an-id', action: 'damage.created' }).body,
    );
    if (parsed.kind !== 'notification') throw new Error(parsed.kind);
    expect([
      complete(parsed.notification),
      incomplete({ ...parsed.notification, action: 'order.created', data: { id: 1, status: '' } }),
    ]).toEqual(['an-id', 'created']);
  });

  test('complete the handlers of every action, unless there is one for the rest', () => {
    const given = { interface: 'carrier', secrets: secret } as const;
    const on = { 'order.created': () => undefined };
    createReceiver({ ...given, on, otherwise: () => undefined });
    // @ts-expect-error: seven handlers are missing.
    expect(() => createReceiver({ ...given, on })).toThrow('order.assigned');
    const unknown = { 'order.teleported': () => undefined };
    // @ts-expect-error: an action that there is not.
    expect(() => createReceiver({ ...given, on: unknown, otherwise: () => undefined })).toThrow('order.teleported');
  });

  test('know the names of the actions', () => {
    const names: readonly NotificationOf<'shipper'>['action'][] = actionNames.shipper;
    // @ts-expect-error: an action that there is not.
    signedRequest({ ...about, change: { action: 'order.teleported' } });
    expect(names).toContain('order.picked_up');
  });
});
