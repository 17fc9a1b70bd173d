SELECT rowid FROM trips
SELECT oid FROM trips
SELECT _rowid_ FROM trips
SELECT name FROM sqlite_master
SELECT COUNT(*) FROM sqlite_master
SELECT COUNT(*) FROM sqlite_schema
SELECT COUNT(*) FROM sqlite_temp_master
SELECT COUNT(*) FROM sqlite_temp_schema
SELECT COUNT(*) FROM SQLITE_MASTER
SELECT sql FROM main.sqlite_master
SELECT COUNT(*) FROM sqlite_stmt
SELECT COUNT(*) FROM dbstat
SELECT COUNT(*) FROM sqlite_dbpage
SELECT COUNT(*) FROM pragma_table_info('trips')
SELECT COUNT(*) FROM pragma_database_list
SELECT COUNT(*) FROM pragma_function_list
SELECT COUNT(*) FROM json_each('[1,2]')
SELECT COUNT(*) FROM json_tree('{"a":1}')
SELECT COUNT(*) FROM generate_series(1, 1000000000)
SELECT COUNT(*) FROM fts3tokenize
SELECT COUNT(*) FROM nowhere
SELECT secret FROM trips
SELECT random()
SELECT abs(random()) % 5
SELECT randomblob(8)
SELECT zeroblob(100000000)
SELECT hex('a')
SELECT quote('a')
SELECT char(65)
SELECT unicode('a')
SELECT typeof(1)
SELECT length('abc')
SELECT substr('abc', 1, 1)
SELECT substring('abc', 1, 1)
SELECT replace('abc', 'b', 'c')
SELECT instr('abc', 'b')
SELECT upper('a')
SELECT lower('A')
SELECT trim(' a ')
SELECT printf('%.*c', 900000000, 'x')
SELECT format('%d', 1)
SELECT group_concat(region) FROM trips
SELECT string_agg(region, ',') FROM trips
SELECT json_group_array(region) FROM trips
SELECT json_object('a', 1)
SELECT json('{}')
SELECT '{"a":1}' -> 'a'
SELECT '{"a":1}' ->> 'a'
SELECT date()
SELECT date('now')
SELECT date('n' || 'ow')
SELECT datetime('now')
SELECT time('now')
SELECT julianday('now')
SELECT unixepoch()
SELECT strftime('%s')
SELECT strftime('%s', 'now')
SELECT timediff('now', '2020-01-01')
SELECT CURRENT_TIMESTAMP
SELECT CURRENT_DATE
SELECT CURRENT_TIME
SELECT sqlite_version()
SELECT sqlite_source_id()
SELECT sqlite_compileoption_get(1)
SELECT last_insert_rowid()
SELECT changes()
SELECT total_changes()
SELECT load_extension('evil')
SELECT soundex('a')
SELECT likelihood(1, 0.5)
SELECT 'a' LIKE 'a'
SELECT 'a' GLOB 'a'
SELECT 'a' REGEXP 'a'
SELECT 'a' MATCH 'a'
SELECT sum(1) OVER () + row_number() OVER () FROM trips
SELECT rank() OVER (ORDER BY distance_km) FROM trips
SELECT lag(distance_km) OVER () FROM trips
SELECT nth_value(region, 2) OVER () FROM trips
WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT COUNT(*) FROM r
WITH RECURSIVE r(x) AS (SELECT 1 UNION SELECT x + 1 FROM r WHERE x < 5) SELECT MAX(x) FROM r
INSERT INTO trips VALUES ('x', 'y', 1)
INSERT INTO trips VALUES ('x', 'y', 1) RETURNING 1
UPDATE trips SET region = 'x'
UPDATE trips SET region = 'x' RETURNING region
DELETE FROM trips
DELETE FROM trips RETURNING region
REPLACE INTO trips VALUES ('x', 'y', 1)
CREATE TABLE t (a)
CREATE TEMP TABLE t (a)
CREATE TABLE t AS SELECT * FROM trips
CREATE VIEW v AS SELECT 1
CREATE TRIGGER g AFTER INSERT ON trips BEGIN SELECT 1; END
CREATE INDEX i ON trips (region)
CREATE VIRTUAL TABLE v USING fts5(a)
DROP TABLE trips
ALTER TABLE trips ADD COLUMN x
ATTACH DATABASE '/tmp/evil.db' AS evil
ATTACH ':memory:' AS evil
DETACH DATABASE main
VACUUM
VACUUM INTO '/tmp/evil.db'
PRAGMA query_only=OFF
PRAGMA table_info(trips)
PRAGMA database_list
PRAGMA hard_heap_limit=0
PRAGMA writable_schema=ON
PRAGMA trusted_schema=ON
ANALYZE
REINDEX
BEGIN
COMMIT
SAVEPOINT s
ROLLBACK
EXPLAIN SELECT 1
EXPLAIN QUERY PLAN SELECT 1
SELECT 1; SELECT 2
SELECT 1; DROP TABLE trips
SELECT ?
SELECT ?1
SELECT :x
SELECT @x
SELECT $x
SELECT x'00' || zeroblob(9)
SELECT region, activity FROM trips
SELECT * FROM trips
SELECT 9223372036854775807 + 1, 2
SELECT SUM(9223372036854775807) FROM trips
SELECT COUNT(*) FROM trips NATURAL JOIN missing
SELECT max(1,2,3,4,5,6,7,8,9)
SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5

-- nothing
;
SELECT
not sql at all
