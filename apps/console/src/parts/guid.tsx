/** The beginning of a guid, which is enough to tell it from its neighbours; all of it for who points at it or copies. */
export function Guid({ guid }: { guid: string }) {
  return (
    <code className="guid" title={guid} aria-label={guid}>
      {guid.slice(0, 8)}
    </code>
  );
}
