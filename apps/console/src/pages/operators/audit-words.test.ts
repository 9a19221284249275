import { describe, expect, test } from '@jest/globals';
import { inWords } from './audit-words.ts';

const said = (what: string, details: Record<string, unknown>, before: string | null = null) =>
  inWords({ what, details, callback_origin_before: before }, (at) => `<${at}>`);

describe('a change in words', () => {
  test.each<[string, string, Record<string, unknown>]>([
    ['Created account', 'account.created', { interface: 'shipper' }],
    ['Named Acme, Features: insurance', 'account.changed', { name: 'Acme', features: ['insurance'] }],
    ['Created subscription to https://a.test', 'subscription.created', { callback_origin: 'https://a.test' }],
    [
      'Switched off: a delivery was given up',
      'subscription.changed',
      { is_active: false, deactivation_rule: 'exhausted' },
    ],
    ['Switched on', 'subscription.changed', { is_active: true, generation: 2, deactivation_rule: null }],
    ['Unsubscribed', 'subscription.changed', { is_active: false, ended_at: '2026-11-20T09:30:00Z' }],
    ['Subscribed again', 'subscription.changed', { generation: 2 }],
    ['Paused until <2026-11-20T09:30:00Z>', 'subscription.changed', { paused_until: '2026-11-20T09:30:00Z' }],
    ['Resumed', 'subscription.changed', { paused_until: null }],
    [
      'Stopped: it is moved',
      'subscription.changed',
      { stopped_at: '2026-11-20T09:30:00Z', stopped_reason: 'it is moved' },
    ],
    ['Started', 'subscription.changed', { stopped_at: null, stopped_reason: null }],
    ['Revoked access token', 'token.changed', { revoked_at: '2026-11-20T09:30:00Z' }],
    ['Rotated signing secret', 'signing-secret.changed', { expires_at: '2026-11-20T09:30:00Z' }],
    ['Stopped host', 'host.stopped', { host: 'a.test', reason: 'moved' }],
    ['Started host', 'host.started', { host: 'a.test' }],
    ['Resent a delivery of order.created', 'resend.created', { action: 'order.created' }],
    ['Cancelled replay', 'replay.changed', { cancelled_at: '2026-11-20T09:30:00Z' }],
    ['Changed subscription', 'subscription.changed', { of_a_later_release: 1 }],
    [
      'Opened console link',
      'console-link.changed',
      { expires_at: '2026-11-27T09:30:00Z', link_opened_at: '2026-11-20T09:30:00Z' },
    ],
    ['Created console link', 'console-link.created', { scopes: ['webhooks:read'] }],
    ['widget.spun', 'widget.spun', {}],
    ['Name removed', 'account.changed', { name: null }],
    ['Features: none', 'account.changed', { features: [] }],
    ['Switched off', 'subscription.changed', { is_active: false, deactivation_rule: null }],
    ['Audit fields changed', 'subscription.changed', { audit_field_set: ['price'] }],
    ['Created access token', 'token.created', {}],
    ['Created signing secret', 'signing-secret.created', {}],
    ['Created credentials', 'credentials.created', {}],
    ['Deleted credentials', 'credentials.deleted', {}],
    ['Changed credentials', 'credentials.changed', {}],
    ['Created replay of order.* from <a> to <b>', 'replay.created', { action: 'order.*', since: 'a', until: 'b' }],
    ['Sent a test of order.paid', 'test.created', { action: 'order.paid' }],
    [
      'Switched on, URL changed to https://b.test, Resumed',
      'subscription.changed',
      { paused_until: null, callback_origin: 'https://b.test', is_active: true },
    ],
  ])('is %p for %s', (words, what, details) => {
    expect(said(what, details)).toBe(words);
  });

  test('says where a URL led to before, if that is known', () => {
    const moved = { generation: 2, callback_origin: 'https://b.test' };
    expect(said('subscription.changed', moved, 'https://a.test')).toBe(
      'URL changed from https://a.test to https://b.test',
    );
    expect(said('subscription.changed', moved)).toBe('URL changed to https://b.test');
  });
});
