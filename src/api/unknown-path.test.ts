import { describe, expect, test } from 'vitest';
import { unknownPathText } from './unknown-path.ts';

describe('the call that was meant', () => {
  test.each([
    ['POST /schedules', 'Did you mean /v1/schedules?'],
    ['POST /api/v1/schedules', 'Did you mean /v1/schedules?'],
    ['POST /v2/schedules', 'Did you mean /v1/schedules?'],
    ['GET /v1/delivery', 'Did you mean /v1/deliveries?'],
    ['GET /v1/Schedules', 'Did you mean /v1/schedules?'],
    ['GET /v1/endpoint/ep_1', 'Did you mean /v1/endpoints/{id}?'],
    ['POST /v1/schedules/sch_1/canel', 'Did you mean /v1/schedules/{id}/cancel?'],
    ['POST /v1/schedules/sch_1/pause/', 'Leave out the slash at the end.'],
    ['DELETE /v1/schedules/sch_1/', 'To end a schedule, use POST /v1/schedules/{id}/cancel.'],
    ['DELETE /v1/schedules', 'This path has POST and GET.'],
    ['DELETE /v1/schedules/named/report', 'This path has PUT and GET.'],
    ['PATCH /v1/endpoints/named/hooks', 'This path has PUT and GET.'],
    ['GET /', 'GET /docs lists all paths.'],
    ['GET /favicon.ico', 'GET /docs lists all paths.'],
    [`GET /${'a'.repeat(50_000)}`, 'GET /docs lists all paths.'],
  ])('%.40s', (call, meant) => {
    const [method = '', path = ''] = call.split(' ');
    const message = unknownPathText(method, path, path);
    expect(message).toContain(`There is no "${method} /`);
    expect(message.endsWith(meant)).toBe(true);
  });
});
