import { keptReceiver } from './kept-receiver.ts';

keptReceiver();
