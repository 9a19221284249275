import type { Command } from 'commander';
import { CA_OPTION } from './client-api.ts';

/** The command with the options that say where the API is, and which client asks it. */
export const asClient = (command: Command): Command =>
  command
    .option('--api <url>', 'where the API is (default: API_URL, or that of the running stack)')
    .option('--token <token>', 'an access token (default: WAYBELL_TOKEN)')
    .option(...CA_OPTION);
