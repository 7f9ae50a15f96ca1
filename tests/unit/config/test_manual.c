/* SPDX-License-Identifier: MIT
 * The manual page and the completions. tests/http/test_completions.py has what shells make of these. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "config/completion/completion.h"
#include "config/config.h"

#include <cmocka.h> /* after our headers: it has a macro called fail */

/* The output of an action, zero-terminated; the caller frees it. */
static char *printed(enum config_action action) {
    struct config config;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    config_default(&config);
    assert_int_equal(config_answer(action, &config, "blurd 1.2.3", out), 0);
    fclose(out);
    return text;
}

/* The script of a shell, with two jobs; the caller frees it. */
static char *script(void (*print)(const struct completion_jobs *jobs, FILE *out)) {
    static const struct completion_job job[] = {{"blur", "Gaussian blur."}, {"redact", "It's [hidden]."}};
    const struct completion_jobs jobs = {job, 2};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    print(&jobs, out);
    fclose(out);
    return text;
}

static void assert_has(const char *text, const char *part) {
    if (!strstr(text, part)) {
        fail_msg("it lacks: %s", part);
    }
}

/* Options, flags and those of jobs are in the manual page, and no character of them is a command. */
static void test_manual(void **state) {
    (void)state;
    char *manual = printed(CONFIG_HELP_MAN);
    assert_has(manual, "\\fB\\-\\-max\\-body\\fR \\fISIZE\\fR\nLargest request body");
    assert_has(manual, "; default: 20MiB\n");
    assert_has(manual, "\\fB\\-\\-check\\-health\\fR\n");
    assert_has(manual, ".B blurd run\n\\fIJOB\\fR ");
    assert_has(manual, ".TP\n\\fB\\-o\\fR, \\fB\\-\\-output\\fR \\fIFILE\\fR\nWhere the answers go");
    assert_has(manual, ".TP\n\\fB\\-0\\fR, \\fB\\-\\-null\\fR\nThe names");
    assert_has(manual, ".TP\n\\fB\\-\\-tries\\fR \\fINUMBER\\fR\n");
    assert_has(manual, "Allowed: from 1 to 100 tries; default: 5\n");
    assert_has(manual, "1 when some have failed or were not begun, 2 when the\n");
    assert_null(strchr(manual, '`'));
    free(manual);
}

static void test_bash(void **state) {
    (void)state;
    char *text = script(completion_bash);
    assert_has(text, "    --sandbox) words='auto on off' ;;\n");
    assert_has(text, "    --require-gpu) words='on off' ;;\n");
    assert_has(text, "    --gpus) words='all' ;;\n");
    assert_has(text, "    --token-file) files=yes ;;\n");
    assert_has(text, "    --port) words='' ;;\n");
    assert_has(text, "    --files-from | -T) files=yes ;;\n");
    assert_has(text, " -k --keep-going ");
    assert_has(text, " --help-completion-fish --version --help'\n");
    assert_has(text, "    local jobs='blur redact'\n");
    free(text);
}

static void test_zsh(void **state) {
    (void)state;
    char *text = script(completion_zsh);
    assert_has(text, "        '--max-side=[Largest width and largest height of a picture]:NUMBER:()'\n");
    assert_has(text, "]:WORD:(auto on off)'\n");
    assert_has(text, "        '(-o --output)'{-o+,--output=}'[Where the answers go");
    assert_has(text, "        '(-k --keep-going)'{-k,--keep-going}'[Go on after a file that fails]'\n");
    assert_has(text, "        'redact:It'\\''s \\[hidden\\]'\n");
    assert_has(text, "    (blur|redact),1) ");
    free(text);
}

static void test_fish(void **state) {
    (void)state;
    char *text = script(completion_fish);
    assert_has(text, "complete -c blurd -l token-file -r -F -d 'File with one bearer token per line'\n");
    assert_has(text, "complete -c blurd -l sandbox -x -a 'auto on off' -d '");
    assert_has(text,
               "complete -c blurd -n __blurd_in_job -s k -l keep-going -d 'Go on after a file that fails'\n");
    assert_has(text, "complete -c blurd -n __blurd_wants_job -a redact -d 'It\\'s [hidden]'\n");
    free(text);
}

/* Each line is a command that is meant as one, or text; roff takes lines that begin with a dot or an
 * apostrophe as commands. */
static void test_no_accidental_commands(void **state) {
    (void)state;
    static const char *const commands[] = {".\\\"", ".TH ", ".SH ", ".B ",  ".BR ", ".I ",
                                           ".PP",   ".TP",  ".br",  ".UR ", ".UE"};
    char *manual = printed(CONFIG_HELP_MAN);
    char *rest = NULL;
    for (char *line = strtok_r(manual, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        bool known = *line != '.' && *line != '\'';
        for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
            known |= strncmp(line, commands[i], strlen(commands[i])) == 0;
        }
        if (!known) {
            fail_msg("roff does not know: %s", line);
        }
    }
    free(manual);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_manual),
        cmocka_unit_test(test_bash),
        cmocka_unit_test(test_zsh),
        cmocka_unit_test(test_fish),
        cmocka_unit_test(test_no_accidental_commands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
