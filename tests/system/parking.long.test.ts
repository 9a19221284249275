import { parking } from './parking.ts';

parking(100_000);
