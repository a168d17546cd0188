-- A ledger that tukeydp 0.1.0 has written, as SQLite's dump has it, with the two numbers of its header.
PRAGMA application_id = 1952738407;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE budget (
    one INTEGER PRIMARY KEY CHECK (one = 1), epsilon TEXT NOT NULL, delta TEXT NOT NULL, conversion TEXT,
    neighbours TEXT NOT NULL, time TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')), version TEXT NOT NULL
);
INSERT INTO "budget" VALUES(1,'5/2','1/1000000',NULL,'swap','2026-11-18T02:01:20.939889+00:00','0.1.0');
CREATE TABLE spending (
    number INTEGER PRIMARY KEY AUTOINCREMENT, time TEXT NOT NULL, version TEXT NOT NULL, mechanism TEXT,
    epsilon TEXT NOT NULL, delta TEXT NOT NULL, rho TEXT NOT NULL, rho_delta TEXT NOT NULL, neighbours TEXT NOT NULL,
    seeded INTEGER NOT NULL, parameters TEXT NOT NULL
);
INSERT INTO "spending" VALUES(1,'2026-11-18T02:01:21+00:00','0.1.0','boxem','1/5','0','1/200','0','swap',0,'{"n": 200, "d": 2, "columns": null, "units": null, "bounds": [["0", "0"], ["200", "200"]], "notion": "Spread(directions=60, axes=True, seed=None)", "grid": {"lower": [0.0, 0.0], "upper": [200.0, 200.0], "step": [1.1368683772161603e-11, 1.1368683772161603e-11], "steps": [17592186044416, 17592186044416]}, "settings": {}}');
INSERT INTO "spending" VALUES(2,'2026-11-18T02:01:22+00:00','0.1.0',NULL,'1/3','0','1/18','0','swap',0,'{}');
INSERT INTO "spending" VALUES(3,'2026-11-18T02:01:22+00:00','0.1.0','rem','1/7','1/100000000','1/98','1/100000000','swap',1,'{"columns": ["Gr\u00f6\u00dfe", "b"], "n": 200}');
INSERT INTO "spending" VALUES(4,'2026-11-18T02:01:22+00:00','0.1.0','boxem','1/10','0','1/800','0','swap',0,'{"columns": ["a"]}');
INSERT INTO "spending" VALUES(5,'2026-11-18T02:01:22+00:00','0.1.0','boxem','1/10','0','1/800','0','swap',0,'{"columns": ["a"]}');
INSERT INTO "spending" VALUES(6,'2026-11-18T02:01:22+00:00','0.1.0','boxem','1/10','0','1/800','0','swap',0,'{"columns": ["a"]}');
INSERT INTO "spending" VALUES(7,'2026-11-18T02:01:22+00:00','0.1.0','boxem','1/10','0','1/800','0','swap',0,'{"columns": ["a"]}');
INSERT INTO "spending" VALUES(8,'2026-11-18T02:01:22+00:00','0.1.0','boxem','1/10','0','1/800','0','swap',0,'{"columns": ["a"]}');
CREATE TRIGGER spending_is_kept BEFORE DELETE ON spending BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER spending_is_fixed BEFORE UPDATE ON spending BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER spending_goes_on BEFORE INSERT ON spending
    WHEN NEW.number IS NOT (SELECT coalesce(max(number), 0) + 1 FROM spending)
    BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER budget_is_kept BEFORE DELETE ON budget BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER budget_is_fixed BEFORE UPDATE ON budget BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER budget_is_one BEFORE INSERT ON budget WHEN EXISTS (SELECT 1 FROM budget)
    BEGIN SELECT RAISE(ABORT, 'append-only'); END;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('spending',8);
COMMIT;
