import { Counter } from 'prom-client';
import type { InterfaceName } from '@waybell/line/outcomes';
import { type Metrics, CounterOnDemand } from '@waybell/runtime/metrics';
import type { Handshake } from './connect.ts';

/** Called for requests and connections as they are made. */
export type CallbackObserver = {
  requested: (interfaceName: InterfaceName) => void;
  connected: (handshake: Handshake) => void;
};

/** Counts requests, and connections by the kind of their TLS handshake. */
export function countCallbacks(metrics: Metrics): CallbackObserver {
  const requests = new CounterOnDemand(metrics, {
    name: 'waybell_callback_requests_total',
    help: 'Requests to receivers, begun',
    labelNames: ['interface'],
  });
  const connections = new Counter({
    name: 'waybell_callback_connections_total',
    help: 'Connections to receivers, by TLS handshake: none, full, resumed',
    labelNames: ['handshake'],
    registers: [metrics],
  });
  return {
    requested: (interfaceName) => requests.inc({ interface: interfaceName }),
    connected: (handshake) => connections.inc({ handshake }),
  };
}
