import { describe } from '@jest/globals';
import { serversCauses } from './all-causes.ts';
import { proveEach } from './prove-alerts.ts';
import { setServersScene } from './servers-scene.ts';

describe('operators of several servers of a kind are told, and their page helps, when', () => {
  proveEach(serversCauses, setServersScene);
});
