import { StopButton } from './stop-button.tsx';

/** Stops or starts the host of a URL, where that has one. */
export const StopHost = ({ url }: { url: string | null }) =>
  URL.canParse(url ?? '') && <StopButton what={{ kind: 'host', host: new URL(url ?? '').hostname }} />;
