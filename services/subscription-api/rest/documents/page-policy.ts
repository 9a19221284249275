type PageOrigins = { others?: readonly string[]; parents?: readonly string[]; areStylesWritten?: boolean };

/** The hash of nothing: `<style>` elements that are empty may be there, and scripts write their rules. */
const EMPTY = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='";

/**
 * Allows nothing from other origins: pages work without internet, and reveal no reader to another server. `others`: origins that
 * a page may call nevertheless; `parents`: those whose pages may frame it; `areStylesWritten`: by its scripts, with their fonts.
 */
export function pagePolicy({ others = [], parents = [], areStylesWritten = false }: PageOrigins = {}): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    ...(areStylesWritten ? [`style-src 'self' ${EMPTY}`, 'font-src data:'] : ["style-src 'self'"]),
    "img-src 'self' data:",
    `connect-src ${["'self'", ...others].join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${parents.length === 0 ? "'none'" : parents.join(' ')}`,
  ].join('; ');
}
