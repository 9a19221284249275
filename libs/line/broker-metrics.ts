import { gaugeOnDemand, type Metrics } from '@waybell/runtime/metrics';

export type PublishingFigures = { unconfirmed: number; isBlocked: boolean };

/** How publishing goes, as this process sees it. */
export function watchPublishing(figures: () => PublishingFigures, metrics: Metrics): void {
  gaugeOnDemand(
    metrics,
    { name: 'waybell_unconfirmed_messages', help: 'Messages published and not yet confirmed by the broker' },
    () => [{ value: figures().unconfirmed }],
  );
  gaugeOnDemand(
    metrics,
    {
      name: 'waybell_publishing_blocked',
      help: '1 while the broker takes no publishes from this process: its memory or its disk is short',
    },
    () => [{ value: figures().isBlocked ? 1 : 0 }],
  );
}
