import { expect, test } from 'vitest';
import type { AnswerKind } from './contract.ts';
import { DEFAULT_MODE, Responder } from './responder.ts';

test('a mode for a number of requests goes back to 200 afterwards', () => {
  const responder = new Responder();
  responder.setMode({ answer: '500', times: 2 });
  expect([responder.next(), responder.next(), responder.next()]).toEqual(['500', '500', '200']);
  expect(responder.mode).toEqual(DEFAULT_MODE);
});

test('a request that hangs gets the next answer that is set, once', () => {
  const responder = new Responder();
  const answers: AnswerKind[] = [];
  responder.setMode({ answer: 'hang', times: null });
  responder.hang((answer) => answers.push(answer));
  const cancel = responder.hang(() => answers.push('redirect'));
  cancel();
  responder.setMode({ answer: 'hang', times: 1 });
  expect(answers).toEqual([]);
  responder.setMode({ answer: '500', times: null });
  responder.setMode({ answer: '200', times: null });
  expect(answers).toEqual(['500']);
});

test('at most 100 requests hang', () => {
  const responder = new Responder();
  responder.setMode({ answer: 'hang', times: null });
  for (let count = 0; count < 100; count++) {
    expect(responder.next()).toBe('hang');
    responder.hang(() => {});
  }
  expect(responder.next()).toBe('500');
});

test('when the service stops, requests that hang and later ones are answered with 500', () => {
  const responder = new Responder();
  const answers: AnswerKind[] = [];
  responder.setMode({ answer: 'hang', times: null });
  responder.hang((answer) => answers.push(answer));
  responder.close();
  expect(answers).toEqual(['500']);
  expect(responder.next()).toBe('500');
});
