import { framed } from './framed.ts';
import { signingIn } from './signing-in.ts';
signingIn();
framed();
