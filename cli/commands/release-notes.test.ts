import { describe, expect, test } from '@jest/globals';
import { versionNotes } from './release-notes.ts';

const text = `# Changelog

## [Unreleased]

## [0.2.0] - 2026-11-25

The first. [Upgrading](docs/upgrading.md), [format](https://example.com/format)

### Added

- A thing.

## [0.1.0] - 2026-10-01

- Nothing.
`;
const notes = (version: string) => versionNotes({ text, linksAt: 'https://example.com/blob/v/' }, version);

describe('versionNotes', () => {
  test('is what stands between the heading of the version and the next', () => {
    expect(notes('0.2.0')).toMatch(/^The first\.[^]*- A thing\.$/);
    expect(notes('0.1.0')).toBe('- Nothing.');
  });

  test('leads to the files of the version, and leaves other links alone', () => {
    expect(notes('0.2.0')).toContain(
      '(https://example.com/blob/v/docs/upgrading.md), [format](https://example.com/format)',
    );
  });

  test.each(['0.3.0', '0.2', 'Unreleased'])('there are none of %s, and that is an error', (version) => {
    expect(() => notes(version)).toThrow(`CHANGELOG.md says nothing of ${version}`);
  });

  test('there are none before it has a date', () => {
    const undated = text.replace('2026-11-25', 'not released yet');
    expect(() => versionNotes({ text: undated, linksAt: '' }, '0.2.0')).toThrow(
      'CHANGELOG.md says of 0.2.0 " - not released yet"',
    );
  });
});
