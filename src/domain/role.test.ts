import { expect, test } from 'vitest';
import { withHiddenQuery } from './role.ts';

test.each([
  ['https://a.example/hook?token=s', 'https://a.example/hook?…'],
  ['https://a.example?token=s', 'https://a.example?…'],
  ['https://a.example/hook?', 'https://a.example/hook?…'],
  ['https://a.example/a b?c d?e', 'https://a.example/a b?…'],
  ['https://a.example/#part?token=s', 'https://a.example/#part?…'],
  ['What? https://a.example/?token=s answered', 'What? https://a.example/?…'],
  ['https://a.example/hook', 'https://a.example/hook'],
  ['https://a.example/hook?…', 'https://a.example/hook?…'],
  ['/hook?a=b', '/hook?a=b'],
  ['', ''],
])('%j is shown as %j', (text, shown) => {
  expect(withHiddenQuery(text)).toBe(shown);
});
