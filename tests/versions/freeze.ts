/** Writes down what this version writes, before it is tagged: the one after it must read that. The file of the release before goes. */
import { writeFileSync } from 'node:fs';
import manifest from '../../package.json' with { type: 'json' };
import { asOfNow, fileOf } from './release.ts';

writeFileSync(fileOf(manifest.version), `${JSON.stringify(asOfNow(), null, 2)}\n`);
