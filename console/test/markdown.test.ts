import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { build } from 'vite';
import { noBrowser, openBrowser, openPage } from './browser.ts';

const TEXT = [
  '# Title\n\nOne **bold** word, `code`, and a [link](https://example.org).\n\n',
  '- first\n- second **item**\n\n- third, with\n  - an inner item\n\n',
  '| a | b |\n| - | - |\n| 1 | 2 |\n\n```\nconst x = 1 < 2;\n```\n\n',
  '1. one\n2. two\n\n> a quote\n\nThe end, with <b>HTML</b> and ~~more~~.',
].join('');

test(
  'an answer that grows looks as if it were shown at once, and what is complete stays in place',
  { skip: noBrowser },
  async () => {
    const built = await build({
      configFile: false,
      logLevel: 'silent',
      build: {
        write: false,
        lib: {
          entry: join(import.meta.dirname, '../src/ui/markdown.tsx'),
          name: 'markdown',
          formats: ['iife'],
        },
      },
    });
    const [first] = [built].flat();
    assert.ok(first !== undefined && 'output' in first);
    const browser = await openBrowser();
    try {
      const page = await openPage(browser);
      await page.addScriptTag({ content: first.output[0].code });
      const outcome: unknown = await page.evaluate(`((text) => {
        const { patchChildren, toSafeElements } = markdown;
        const grown = document.createElement('div');
        const different = [];
        let title, kept = 0;
        for (let length = 1; length <= text.length; length++) {
          const part = text.slice(0, length);
          patchChildren(grown, toSafeElements(part));
          const whole = document.createElement('div');
          whole.append(toSafeElements(part));
          if (grown.innerHTML !== whole.innerHTML) different.push(part.slice(-30));
          if (grown.querySelector('h1') === title) kept++;
          title = grown.querySelector('h1');
        }
        patchChildren(grown, toSafeElements('Short.'));
        return { different, kept: kept > text.length - 20, last: grown.textContent.trim() };
      })(${JSON.stringify(TEXT)})`);
      assert.deepEqual(outcome, { different: [], kept: true, last: 'Short.' });
    } finally {
      await browser.close();
    }
  },
);
