/**
 * Budgets of one delivery, by the names of the figures of `counts`: a tenth more than was measured. Figures that a busy machine
 * changes by more have no budget: how often waiting services wake, and what timers do meanwhile.
 */
export const COUNT_BUDGETS: Readonly<Record<string, number>> = {
  'event-router: bytes allocated': 19_700,
  'deliverer: bytes allocated': 28_300,
  'delivery-log: bytes allocated': 7_600,
  'event-router: promises': 0.6,
  'deliverer: promises': 3.7,
  'event-router: bytes to the broker': 503,
  'event-router: bytes from the broker': 517,
  'deliverer: bytes to the broker': 110,
  'deliverer: bytes from the broker': 422,
  'delivery-log: bytes from the broker': 189,
  'deliverer: reads and writes': 2.3,
  'messages published': 1.47,
  'messages taken': 1.47,
  'Redis commands': 2.25,
  'rows written': 3.45,
  'WAL bytes': 1_300,
  'files entered': 122,
};
