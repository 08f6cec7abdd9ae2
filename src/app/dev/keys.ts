/**
 * The fixed address and keys of `sched dev`, so that an example can be pasted unchanged. They are public,
 * which is why `sched dev` listens on loopback only. The file imports nothing, because every command loads it.
 */

export const DEV_URL = 'http://127.0.0.1:8080';
export const DEV_TEST_KEY = 'sk_test_local_development_only';
export const DEV_LIVE_KEY = 'sk_live_local_development_only';
/** The signing secret of both modes. Its base64 says `only for local development use`. */
export const DEV_SIGNING_SECRET = 'whsec_b25seSBmb3IgbG9jYWwgZGV2ZWxvcG1lbnQgdXNl';
