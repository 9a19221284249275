import { waiting } from './waiting.ts';

waiting(100_000);
