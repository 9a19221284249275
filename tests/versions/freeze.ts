/** Writes down what this version writes, before it is tagged: the one after it must read that. The file of the release before goes. */
import { rmSync, writeFileSync } from 'node:fs';
import manifest from '../../package.json' with { type: 'json' };
import { asOfNow, fileOf, releasesHere } from './release.ts';

const text = `${JSON.stringify(asOfNow(), null, 2)}\n`;
for (const version of releasesHere()) rmSync(fileOf(version));
writeFileSync(fileOf(manifest.version), text);
console.log(`wrote ${fileOf(manifest.version)}: empty CHANGED in versions.test.ts`);
