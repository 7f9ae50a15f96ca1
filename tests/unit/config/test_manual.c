/* SPDX-License-Identifier: MIT
 * The manual page and the completions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

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

/* Every option and flag is in the manual page and in the completions, and no character of them is a command.
 */
static void test_manual(void **state) {
    (void)state;
    char *manual = printed(CONFIG_HELP_MAN);
    char *completion = printed(CONFIG_HELP_COMPLETION);
    assert_non_null(strstr(manual, "\\fB\\-\\-max\\-body\\fR \\fISIZE\\fR\nLargest request body"));
    assert_non_null(strstr(manual, "; default: 20MiB\n"));
    assert_non_null(strstr(manual, "\\fB\\-\\-check\\-health\\fR\n"));
    assert_null(strchr(manual, '`'));
    assert_non_null(strstr(completion, "    --sandbox) words='auto on off ' ;;\n"));
    assert_non_null(strstr(completion, "    --require-gpu) words='on off' ;;\n"));
    assert_non_null(strstr(completion, "    --gpus) words='all' ;;\n"));
    assert_non_null(strstr(completion, "    --token-file) files=yes ;;\n"));
    assert_non_null(strstr(completion, "    --port) words='' ;;\n"));
    assert_non_null(strstr(completion, " --help-completion --version --help --config' ;;\n"));
    free(manual);
    free(completion);
}

/* Each line is a command that is meant as one, or text; roff takes lines that begin with a dot or an
 * apostrophe as commands. */
static void test_no_accidental_commands(void **state) {
    (void)state;
    static const char *const commands[] = {".\\\"", ".TH ", ".SH ", ".B ", ".BR ",
                                           ".I ",   ".PP",  ".TP",  ".br"};
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
        cmocka_unit_test(test_no_accidental_commands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
